"""Prices usages with the packages of the catalogues: JSON on standard input, a list of dollars on standard output.

A usage of which a package says that it cannot price it gets a text with the reason.
"""

import datetime
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'

from genai_prices import data, types  # noqa: E402
from litellm.litellm_core_utils.llm_cost_calc import utils  # noqa: E402
from litellm.types.utils import (  # noqa: E402
    CacheCreationTokenDetails,
    CompletionTokensDetailsWrapper,
    PromptTokensDetailsWrapper,
    Usage,
)

models = {
    (provider.id, model.id): (provider, model) for provider in data.providers for model in provider.models
}


def price_genai(case):
    provider, model = models[case['provider'], case['model']]
    usage = types.Usage(**case['usage'])
    moment = datetime.datetime.fromtimestamp(case['at'] / 1000, tz=datetime.timezone.utc)
    priced = model.calc_price(
        usage, provider, genai_request_timestamp=moment, price_context=case['context'] or None
    )
    return format(priced.total_price, 'f')


def price_litellm(case):
    usage = case['usage']
    built = Usage(
        prompt_tokens=usage['prompt'],
        completion_tokens=usage['output'],
        total_tokens=usage['prompt'] + usage['output'],
        prompt_tokens_details=PromptTokensDetailsWrapper(
            cached_tokens=usage['cached'],
            audio_tokens=usage['audio'] + usage['cachedAudio'],
            image_tokens=usage['image'],
            video_tokens=usage['video'],
            cached_tokens_details={'audio_tokens': usage['cachedAudio']} if usage['cachedAudio'] else None,
            cache_creation_tokens=usage['written'],
            cache_creation_token_details=CacheCreationTokenDetails(
                ephemeral_5m_input_tokens=usage['written'] - usage['written_1h'] - usage['written_12h'],
                ephemeral_1h_input_tokens=usage['written_1h'],
                ephemeral_12h_input_tokens=usage['written_12h'],
            ),
        ),
        completion_tokens_details=CompletionTokensDetailsWrapper(
            reasoning_tokens=usage['reasoning'],
            audio_tokens=usage['audioOutput'],
            image_tokens=usage['imageOutput'],

        ),
    )
    built.inference_geo = case['geo']
    if case['tier'] == 'fast':
        built.speed = 'fast'
    costs = utils.generic_cost_per_token(
        model='',
        usage=built,
        custom_llm_provider=case['entry'].get('litellm_provider', ''),
        service_tier=None if case['tier'] in ('standard', 'fast') else case['tier'],
        model_info=case['entry'],
        current_time=datetime.datetime.fromtimestamp(case['at'] / 1000, tz=datetime.timezone.utc),
    )
    factor = utils.get_provider_specific_geo_multiplier(
        case['entry'], built
    ) * utils.get_provider_specific_speed_multiplier(case['entry'], built)
    return format(sum(costs) * factor, '.15f')


def attempt(price, case):
    try:
        return price(case)
    except Exception as error:
        return f'{type(error).__name__}: {error}'


given = json.load(sys.stdin)
json.dump(
    {
        'genai': [attempt(price_genai, case) for case in given['genai']],
        'litellm': [attempt(price_litellm, case) for case in given['litellm']],
    },
    sys.stdout,
)
