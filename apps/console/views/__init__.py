"""One module a subject; a view is gate, form, change, answer."""
