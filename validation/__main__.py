"""`python -m validation`."""

import sys

from validation.accuracy import main

sys.exit(main())
