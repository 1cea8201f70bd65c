"""Prints the catalogue of genai-prices in the form of its public data.json."""

import dataclasses
import datetime
import decimal
import json
import sys

sys.path.insert(0, sys.argv[1])

from genai_prices import data, types  # noqa: E402


def simplify(value):
    if isinstance(value, types.ModelPrice):
        return {name: simplify(price) for name, price in value.__dict__.items() if price is not None}
    if isinstance(value, (types.ClauseOr, types.ClauseAnd)):
        name = 'or' if isinstance(value, types.ClauseOr) else 'and'
        return {name: [simplify(clause) for clause in getattr(value, f'{name}_')]}
    if dataclasses.is_dataclass(value):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: simplify(own) for name, own in fields if own is not None}
    if isinstance(value, dict):
        return {name: simplify(own) for name, own in value.items()}
    if isinstance(value, list):
        return [simplify(own) for own in value]
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return value


json.dump(
    [
        {
            'id': provider.id,
            'api_pattern': provider.api_pattern,
            'fallback_model_providers': provider.fallback_model_providers or [],
            'models': [
                {
                    'id': model.id,
                    'match': simplify(model.match),
                    'prices': simplify(model.prices),
                    'price_variants': simplify(model.price_variants or []),
                }
                for model in provider.models
            ],
        }
        for provider in data.providers
    ],
    sys.stdout,
)
