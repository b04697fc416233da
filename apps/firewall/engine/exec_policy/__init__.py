"""DECIDES about commands: may this argv run, must a person be asked. No process is started here."""
