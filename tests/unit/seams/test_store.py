"""All stores offer the same."""

from tonnage.seams.fakes import FakeStore
from tonnage.seams.folder import Folder
from tonnage.seams.hub import Hub
from tonnage.seams.store import Place, Store


def test_every_store_can_stand_for_another() -> None:
    stores: list[Store] = [Folder("."), FakeStore({}), Hub("org/name", "main", "http://127.0.0.1", {})]
    for store in stores:
        assert all(callable(getattr(store, verb)) for verb in ("names", "size", "read", "each"))
        assert isinstance(store.origin, str)


def test_a_place_is_a_whole_store_unless_it_names_a_file() -> None:
    assert Place(FakeStore({})).name is None
