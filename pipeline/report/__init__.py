"""What a person looks at, and what a desktop can show live."""
