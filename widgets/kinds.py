"""The list of everything that can be shown and made, in the order of the toolbox; a new kind is one
line here, and its object one line in `liveobj.objects.catalogue`."""

from __future__ import annotations

from widgets import note_view
from widgets.chart import chart_view
from widgets.chat import chat_view
from widgets.desktop import desktop_view
from widgets.document import document_view
from widgets.files import files_view
from widgets.folder import folder_view
from widgets.image import image_view
from widgets.object_kind import Kinds
from widgets.table import table_view

KINDS = Kinds(
    [
        note_view.KIND,
        document_view.KIND,
        desktop_view.KIND,
        folder_view.KIND,
        files_view.KIND,
        chat_view.KIND,
        table_view.KIND,
        chart_view.KIND,
        image_view.KIND,
    ]
)
