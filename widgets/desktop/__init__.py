"""The view of a desktop: a plane without edges, on which live objects lie."""
