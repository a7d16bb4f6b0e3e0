"""The style sheet of the whole program, made from a theme's roles; widgets name what they are."""

from __future__ import annotations

from dataclasses import asdict
from string import Template

from widgets.fonts import CODE_FAMILY, TEXT_FAMILY, Size, Weight
from widgets.roles import Roles

# `kind` is a dynamic property: widgets say what they are and get their look from here.
_SHEET = Template("""
* { font-family: "$text_family"; font-size: ${size_base}px; }
QWidget { color: $text; }
QMainWindow, QWidget[kind="window"] { background: $surface; }
QWidget[kind="page"] { background: $raised; }
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 8px; }

QLabel { background: transparent; }
QLabel[kind="brand"] { font-size: ${size_reading}px; font-weight: $strong; }
QLabel[kind="title"] { font-size: ${size_title}px; font-weight: $strong; }
QLabel[kind="heading"] { font-size: ${size_heading}px; font-weight: $strong; }
QLabel[kind="strong"] { font-weight: $strong; }
QLabel[kind="muted"] { color: $muted; }
QLabel[kind="reading"] { font-size: ${size_reading}px; color: $muted; }
QLabel[kind="section"] { font-size: ${size_small}px; font-weight: $strong; color: $muted; }
QLabel[kind="small"] { font-size: ${size_small}px; color: $muted; }
QLabel[kind="code"] { font-family: "$code_family"; font-size: ${size_small}px; color: $muted; }
QLabel[kind="code-to-compare"] { font-family: "$code_family"; font-size: ${size_title}px;
    font-weight: $strong; background: $sunken; border-radius: 8px; padding: 18px; }
QLabel[kind="key"] { font-size: ${size_small}px; color: $muted; background: $sunken;
    border: 1px solid $border; border-radius: 4px; padding: 1px 6px; }

QPushButton { background: $raised; border: 1px solid $border; border-radius: 6px;
    padding: 6px 14px; font-weight: $medium; }
QPushButton:hover { background: $hover; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $muted; background: $surface; }
QPushButton[kind="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent; }
QPushButton[kind="primary"]:hover { background: $accent_hover; border: 1px solid $accent_hover; }
QPushButton[kind="primary"]:focus { border: 1px solid $text; }
QPushButton[kind="primary"]:disabled { background: $hover; color: $muted;
    border: 1px solid $border; }
QPushButton[kind="choice"] { text-align: left; }
QPushButton[kind="search"] { background: $sunken; border: 1px solid $sunken; color: $muted;
    text-align: left; font-weight: $normal; padding: 6px 12px; }
QPushButton[kind="search"]:hover, QPushButton[kind="search"]:focus { border: 1px solid $border; }
QPushButton[kind="state"] { background: transparent; border: none; border-radius: 6px;
    color: $muted; font-size: ${size_small}px; font-weight: $normal; padding: 3px 8px;
    text-align: left; }
QPushButton[kind="state"]:hover { background: $hover; color: $text; }
QPushButton[kind="state"]:focus { border: 1px solid $accent; padding: 2px 7px; }
QPushButton[kind="state-warning"] { background: $danger; border: 1px solid $danger;
    border-radius: 6px; color: $raised; font-size: ${size_small}px; font-weight: $strong;
    padding: 2px 8px; text-align: left; }
QPushButton[kind="state-warning"]:focus { border: 1px solid $text; }
QPushButton[kind="danger"] { color: $danger; }
QFrame[kind="warning"] { background: $danger; border: none; }
QLabel[kind="on-warning"] { color: $raised; font-weight: $medium; }
QPushButton[kind="on-warning"] { background: transparent; color: $raised;
    border: 1px solid $raised; padding: 4px 12px; }
QPushButton[kind="on-warning"]:hover, QPushButton[kind="on-warning"]:focus { background: $raised;
    color: $danger; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px;
    padding: 5px; }
QToolButton:hover { background: $hover; }
QToolButton:checked { background: $selection; }
QToolButton:focus { border: 1px solid $accent; }
QToolButton:checked { background: $selection; }
QToolButton::menu-indicator { image: none; }
QToolButton[kind="navigation"] { padding: 5px 10px; text-align: left; font-weight: $medium; }
QToolButton[kind="navigation"]:checked { background: $selection; }
QToolButton[kind="tool"] { background: $raised; border: 1px solid $border; border-radius: 8px;
    padding: 10px 4px 8px 4px; font-size: ${size_small}px; font-weight: $medium; }
QToolButton[kind="tool"]:hover, QToolButton[kind="tool"]:focus { border: 1px solid $accent; }

QToolButton[kind="primary"] { background: $accent; padding: 7px; border-radius: 8px; }
QToolButton[kind="primary"]:hover { background: $accent_hover; }
QToolButton[kind="primary"]:focus { border: 1px solid $text; }
QToolButton[kind="primary"]:disabled { background: $border; }
QToolButton[kind="floating"] { background: $raised; border: 1px solid $border; border-radius: 8px;
    padding: 6px 10px; font-weight: $medium; }
QToolButton[kind="floating"]:hover { background: $hover; }
QToolButton[kind="tile"] { border: 1px solid transparent; border-radius: 8px; padding: 5px 0 3px 0;
    font-size: 11px; font-weight: $medium; }
QToolButton[kind="tile"]:hover { background: $raised; border: 1px solid $border; }
QToolButton[kind="tile"]:focus { background: $raised; border: 1px solid $accent; }
QScrollArea[kind="clear"], QWidget[kind="clear"] { background: transparent; border: none; }
QScrollArea[kind="clear"] QScrollBar:vertical { width: 8px; margin: 1px; }
QScrollArea[kind="clear"] QScrollBar::handle:vertical { border-radius: 3px; }
QRadioButton::indicator, QCheckBox::indicator { width: 14px; height: 14px; background: $raised;
    border: 1px solid $muted; border-radius: 8px; }
QCheckBox::indicator { border-radius: 4px; }
QRadioButton::indicator:checked, QCheckBox::indicator:checked { width: 8px; height: 8px;
    border: 4px solid $accent; }
QRadioButton::indicator:focus, QCheckBox::indicator:focus { border-color: $text; }
QComboBox { background: $raised; border: 1px solid $border; border-radius: 6px; padding: 5px 9px; }
QComboBox:focus { border: 1px solid $accent; }
QComboBox::drop-down { border: none; width: 22px; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $border;
    selection-background-color: $selection; selection-color: $text; }
QLineEdit[kind="filter"] { background: $sunken; color: $text; border: 1px solid transparent;
    border-radius: 6px; padding: 5px 9px; }
QLineEdit[kind="filter"]:focus { border: 1px solid $accent; background: $raised; }

QToolButton[kind="step"] { color: $muted; font-weight: $medium; }
QToolButton[kind="last-step"] { font-weight: $strong; }

QFrame[kind="bar"] { background: $surface; border: none; border-bottom: 1px solid $border; }
QFrame[kind="footer"] { background: $surface; border: none; border-top: 1px solid $border; }
QFrame[kind="side"] { background: $surface; border: none; border-right: 1px solid $border; }
QFrame[kind="panel"], QWidget[kind="panel"] { background: $surface; border: none; }
QFrame[kind="panel"] { border-left: 1px solid $border; }
QScrollArea[kind="plain"] { background: transparent; border: none; }
QFrame[kind="line"] { background: $border; border: none; max-height: 1px; min-height: 1px; }
QFrame[kind="card"] { background: $raised; border: 1px solid $border; border-radius: 12px; }
QFrame[kind="popup"] { background: $raised; border: 1px solid $border; border-radius: 0; }
QFrame[kind="panel"] { background: $surface; border: none; border-left: 1px solid $border; }
QFrame[kind="upright"] { background: $border; border: none; max-width: 1px; min-width: 1px; }
QFrame[kind="float"] { background: $raised; border: 1px solid $border; border-radius: 12px; }

QTabBar { background: $surface; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 8px 2px 8px 12px;
    border: none; border-bottom: 2px solid transparent; font-weight: $medium; }
QTabBar::tab:hover { color: $text; background: $hover; }
QTabBar::tab:selected { color: $text; background: $raised; border-bottom: 2px solid $accent; }
QTabBar::tear { image: none; width: 0; }
QTabBar::scroller { width: 44px; }
QTabBar QToolButton { background: $surface; border: none; }
QTabBar QToolButton:hover { background: $hover; border-radius: 6px; }
QTabWidget::pane { border: none; border-top: 1px solid $border; background: $raised; }
QTabWidget::tab-bar { left: 8px; }

QTextEdit { background: $raised; color: $text; border: none; selection-background-color: $selection;
    selection-color: $text; font-size: ${size_reading}px; }
QPlainTextEdit[kind="composer"] { background: $sunken; border: 1px solid $sunken;
    border-radius: 8px; padding: 3px 6px; font-size: ${size_reading}px;
    selection-background-color: $selection; selection-color: $text; }
QPlainTextEdit[kind="composer"]:focus { border: 1px solid $accent; }
QLineEdit { background: $sunken; border: 1px solid $sunken; border-radius: 6px; padding: 6px 10px;
    selection-background-color: $selection; selection-color: $text; }
QLineEdit:focus { border: 1px solid $accent; }
QLineEdit[kind="palette"] { background: transparent; border: none; border-radius: 0;
    font-size: ${size_reading}px; padding: 12px 8px; }
QLineEdit[kind="cell"] { background: $raised; border: 2px solid $accent; border-radius: 0;
    padding: 0 3px; }
QTableView { background: $raised; border: none; gridline-color: $border; outline: none;
    selection-background-color: $selection; selection-color: $text; }
QTableView::item { padding: 0 4px; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section { background: $surface; color: $muted; border: none; padding: 0 8px;
    border-right: 1px solid $border; border-bottom: 1px solid $border; font-weight: $medium; }
QHeaderView::section:checked { background: $selection; color: $text; }
QTableCornerButton::section { background: $surface; border: none;
    border-right: 1px solid $border; border-bottom: 1px solid $border; }
QListView { background: transparent; border: none; outline: none; }
QListView::item { border-radius: 6px; padding: 0; }
QTreeView { background: transparent; border: none; outline: none; }
QTreeView::item { padding: 4px 2px; }
QTreeView::item:selected { background: $selection; color: $text; }
QTreeView QLineEdit { background: $raised; border: 1px solid $accent; padding: 0 2px; }
QTreeView QHeaderView::section { background: transparent; border: none; padding: 4px 6px;
    border-bottom: 1px solid $border; font-size: ${size_small}px; }

QMenu { background: $raised; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }

QSlider::groove:horizontal { background: $border; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: $accent; border-radius: 2px; }
QSlider::handle:horizontal { background: $accent; width: 16px; height: 16px; margin: -6px 0;
    border-radius: 8px; border: 2px solid $raised; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 2px; }
QScrollBar::handle:vertical { background: $border; border-radius: 4px; min-height: 32px; }
QScrollBar::handle:vertical:hover { background: $muted; }
QScrollBar::handle:vertical:disabled { background: transparent; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 2px; }
QScrollBar::handle:horizontal { background: $border; border-radius: 4px; min-width: 32px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def stylesheet(roles: Roles) -> str:
    """The style sheet in the colours of these roles."""
    return _SHEET.substitute(
        asdict(roles),
        text_family=TEXT_FAMILY,
        code_family=CODE_FAMILY,
        size_small=int(Size.SMALL),
        size_base=int(Size.BASE),
        size_reading=int(Size.READING),
        size_heading=int(Size.HEADING),
        size_title=int(Size.TITLE),
        normal=int(Weight.NORMAL),
        medium=int(Weight.MEDIUM),
        strong=int(Weight.STRONG),
    )
