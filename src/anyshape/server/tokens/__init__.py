"""Verifiers of access tokens, for `Authorization`: by signature, or by asking the issuer."""
