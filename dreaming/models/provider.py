"""Models of providers: OpenAI and what speaks its language, Anthropic, Google; through pydantic-ai's direct requests.

One request a call: the libraries' own retries are switched off, because the job decides about trying again. The
library is an extra (`models`) and is imported only when a model is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from dreaming.models.port import MAX_CHARS, ChatMessage, Finish, ModelAnswer, ModelRequest, Role
from graph.model.errors import ModelUnavailable, ProfileUnavailable
from graph.model.fields import Json
from graph.model.nodes.learning import ModelProfile
from graph.text.outside import whole

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

Credentials = Callable[[str], str | None]
"""Returns the secret that a profile's `credential` names, or None if there is none."""

LONGEST_S = 1_800.0
"""Upper bound of `dream.model_timeout_seconds`."""

MAX_TOKENS = 1_000_000_000
"""No request uses so many: a provider that says so has told nothing of what was used."""

EXTRA_MISSING = "extra_missing"
NO_CREDENTIAL = "credential_missing"
UNKNOWN_PROVIDER = "provider_unknown"
BASE_URL_MISSING = "base_url_missing"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProviderModel:
    """A model of a provider."""

    name: str
    model: Model

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the model's answer to one request, sent once.

        Raises:
            ModelUnavailable: no answer came; says why.
        """
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import ContentFilterError

        try:
            response = await model_request(
                self.model,
                _messages(request.messages),
                model_settings=_settings(self.model, request),
                model_request_parameters=_parameters(self.model, request.schema),
                instrument=False,  # traces hold no content
            )
        except ContentFilterError:
            return ModelAnswer(text="", finish=Finish.REFUSED, model=self.name, usage_reported=False)
        except Exception as error:  # whatever a library makes of what came over the wire
            raise _unavailable(error) from error
        return _answer(response, self.name)


def provider_model(profile: ModelProfile, credentials: Credentials) -> ProviderModel:
    """Return the model that a profile names.

    Raises:
        ProfileUnavailable: the library is not installed, the provider is unknown, or the credential is not there.
    """
    maker = _MAKERS.get(profile.provider)
    if maker is None:
        raise _unusable(UNKNOWN_PROVIDER, f"the provider of a model profile is one of {', '.join(sorted(_MAKERS))}")
    key = credentials(profile.credential) if profile.credential else None
    if profile.credential and not key:
        raise _unusable(NO_CREDENTIAL, "set what the credential of the model profile names")
    try:
        import_module("pydantic_ai.direct")  # now, so that the first request does not wait for it
        model = maker(profile, key)
    except ImportError as error:
        raise _unusable(EXTRA_MISSING, "install the extra `models` of rootward-server") from error
    return ProviderModel(name=f"{profile.provider}:{profile.model}", model=model)


def _unusable(reason: str, message: str) -> ProfileUnavailable:
    return ProfileUnavailable(message, reason=reason)


def _openai(profile: ModelProfile, key: str | None) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    if profile.base_url:
        compatible = OpenAICompatibleProvider(
            "openai-compatible",
            base_url=profile.base_url,
            api_key=key,
            profile={"supports_json_schema_output": True},
        )
        return OpenAIChatModel(profile.model, provider=compatible)
    return OpenAIChatModel(profile.model, provider=OpenAIProvider(api_key=_needed(key)))


def _anthropic(profile: ModelProfile, key: str | None) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(api_key=_needed(key), base_url=profile.base_url)
    return AnthropicModel(profile.model, provider=provider)


def _google(profile: ModelProfile, key: str | None) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(profile.model, provider=GoogleProvider(api_key=_needed(key), base_url=profile.base_url))


def _needed(key: str | None) -> str:
    if not key:
        raise _unusable(NO_CREDENTIAL, "name the credential of the model profile, such as env:OPENAI_API_KEY")
    return key


_MAKERS: Mapping[str, Callable[[ModelProfile, str | None], Model]] = MappingProxyType(
    {"openai": _openai, "anthropic": _anthropic, "google": _google}
)


def _settings(model: Model, request: ModelRequest) -> ModelSettings:
    # No retries and no shorter time than the longest that may be set: the job and `TimedModel` decide about both.
    settings: ModelSettings = {
        "max_tokens": request.max_output_tokens,
        "max_retries": 0,
        "timeout": LONGEST_S,
    }
    if not model.profile.get("openai_supports_reasoning"):  # models that reason take no temperature
        settings["temperature"] = 0.0
    return settings


def _messages(messages: Sequence[ChatMessage]) -> list[ModelMessage]:
    from pydantic_ai import messages as pai

    made: list[ModelMessage] = []
    for message in messages:
        if message.role is Role.ASSISTANT:
            made.append(pai.ModelResponse(parts=[pai.TextPart(content=message.text)]))
            continue
        part = pai.SystemPromptPart if message.role is Role.SYSTEM else pai.UserPromptPart
        if made and isinstance(made[-1], pai.ModelRequest):
            made[-1] = pai.ModelRequest(parts=[*made[-1].parts, part(content=message.text)])
        else:
            made.append(pai.ModelRequest(parts=[part(content=message.text)]))
    return made


def _parameters(model: Model, schema: Json) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not isinstance(schema, dict) or not model.profile.get("supports_json_schema_output"):
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=schema, name="answer")
    return ModelRequestParameters(output_mode="native", output_object=wanted)


_FINISH: Mapping[str | None, Finish] = MappingProxyType({"length": Finish.LENGTH, "content_filter": Finish.REFUSED})


def _answer(response: ModelResponse, name: str) -> ModelAnswer:
    from pydantic_ai.messages import TextPart

    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    used = (response.usage.input_tokens or 0, response.usage.output_tokens or 0)
    believed = all(0 <= tokens <= MAX_TOKENS for tokens in used)
    return ModelAnswer(
        text=whole(said[: MAX_CHARS + 1]),
        input_tokens=used[0] if believed else 0,
        output_tokens=used[1] if believed else 0,
        finish=_FINISH.get(response.finish_reason, Finish.STOP),
        model=whole(response.model_name or name),
        usage_reported=believed and response.usage.has_values(),
    )


def _unavailable(error: Exception) -> ModelUnavailable:
    from pydantic_ai import exceptions as pai

    if isinstance(error, pai.ModelHTTPError):
        return ModelUnavailable(_by_status(error.status_code), retry_after_s=error.retry_after)
    if isinstance(error, pai.ModelTimeoutError | pai.ModelRequestTimeout | TimeoutError):
        return ModelUnavailable("timeout")
    if isinstance(error, pai.ModelConnectionError | OSError):
        return ModelUnavailable("network")
    return ModelUnavailable("bad_request" if isinstance(error, pai.UserError) else "bad_response")


def _by_status(status: int) -> str:
    if status in (401, 403, 404, 429):
        return f"http_{status}"
    return "http_5xx" if status >= 500 else "http_4xx"
