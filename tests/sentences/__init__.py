"""Every sentence of 200 results against the result's own figures: ``results`` makes them, ``laws`` reads them."""
