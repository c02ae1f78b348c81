"""The page that `anyshape inspect` serves: what becomes of a server's tools out there.

A few static files (`static/`), and the endpoints that they ask: everything that is known of a tool,
a form or a difference between clients is found out here, so that the browser only shows it.
"""

from anyshape.page.application import PageApplication, run_page
from anyshape.page.inspection import Inspection

__all__ = ["Inspection", "PageApplication", "run_page"]
