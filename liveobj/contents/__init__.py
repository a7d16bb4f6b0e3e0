"""Contents too large for a document: kept by their hash, fetched from whoever has them."""
