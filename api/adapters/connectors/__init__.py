"""What connectors read: folders and feeds (the port `DocumentPlaces`)."""
