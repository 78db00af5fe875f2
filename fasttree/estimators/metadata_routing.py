# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's metadata routing: which arguments of `fit` and `score` its tools hand on to an estimator."""

from __future__ import annotations

import sys
from typing import Any, Self

Request = bool | str | None

UNCHANGED = "$UNCHANGED$"  # as scikit-learn spells it
METADATA = {"fit": ("sample_weight", "X_val", "y_val", "groups"), "score": ("sample_weight",)}


class Routed:
    """An estimator that declares which arguments Pipeline, GridSearchCV and similar tools should pass to it."""

    def set_fit_request(
        self,
        *,
        sample_weight: Request = UNCHANGED,
        X_val: Request = UNCHANGED,
        y_val: Request = UNCHANGED,
        groups: Request = UNCHANGED,
    ) -> Self:
        """Set which arguments of `fit` scikit-learn's tools should pass on.

        True: pass the argument on. False: do not. None: raise an error if it is given. A string: pass on the argument
        that was given under this name. Requires ``sklearn.set_config(enable_metadata_routing=True)``.
        """
        wanted = {"sample_weight": sample_weight, "X_val": X_val, "y_val": y_val, "groups": groups}
        return self._set_request("fit", **wanted)

    def set_score_request(self, *, sample_weight: Request = UNCHANGED) -> Self:
        """Set which arguments of `score` scikit-learn's tools should pass on; the values are those of
        `set_fit_request`."""
        return self._set_request("score", sample_weight=sample_weight)

    def get_metadata_routing(self) -> Any:
        """Return the requests as scikit-learn's ``MetadataRequest``."""
        # Only scikit-learn asks, and those who have turned its routing on.
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        request = MetadataRequest(owner=type(self).__name__)
        for method, names in METADATA.items():
            for name in names:
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def _set_request(self, method: str, **wanted: Request) -> Self:
        sklearn = sys.modules.get("sklearn")  # where it is not loaded, its routing is not on
        if sklearn is None or not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable it using "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for name, alias in wanted.items():
            if alias != UNCHANGED:
                getattr(request, method).add_request(param=name, alias=alias)
        self._metadata_request = request  # the name by which scikit-learn's clone finds it
        return self
