"""WHO SAID YES: requests to a person, their answers and their end. No views."""
