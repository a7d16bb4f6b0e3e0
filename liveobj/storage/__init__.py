"""Local storage: what a person has opened is on their disk before it is shown as saved."""

from liveobj.storage.damage import StorageError
from liveobj.storage.document_store import DocumentStore
from liveobj.storage.object_store import ObjectStore, StoredUpdate

__all__ = ["DocumentStore", "ObjectStore", "StorageError", "StoredUpdate"]
