"""What every test may use: the database under the application's role, and the fixed cast of people."""
