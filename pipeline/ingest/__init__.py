"""From landed files to a store of events by day and kind; what is wrong is set aside."""
