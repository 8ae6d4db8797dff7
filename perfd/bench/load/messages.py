"""What a request asks, as it stands on the wire: messages with tool calls, tool results and pictures, and the tools on offer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from perfd.domain.identity import Json


@dataclass(frozen=True)
class Call:
    """One tool call of an assistant's message."""

    call_id: str
    name: str
    arguments: str
    """JSON, as a text: so the API has it."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: str
    content: str
    calls: tuple[Call, ...] = ()
    answers: str = ""
    """Of a tool's result: the id of the call that it answers."""
    images: tuple[str, ...] = ()
    """Data URLs, before the text."""

    @property
    def text(self) -> str:
        """All that the model reads of it but pictures: content, and calls as names with arguments."""
        return " ".join([*filter(None, [self.content]), *(f"{call.name} {call.arguments}" for call in self.calls)])

    def json(self) -> dict[str, Json]:
        """As the chat API takes it."""
        told: dict[str, Json] = {"role": self.role, "content": self.content}
        if self.images:
            pictures: list[Json] = [{"type": "image_url", "image_url": {"url": url}} for url in self.images]
            told["content"] = [*pictures, {"type": "text", "text": self.content}]
        if self.calls:
            told["tool_calls"] = [
                {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in self.calls
            ]
        if self.answers:
            told["tool_call_id"] = self.answers
        return told


@dataclass(frozen=True)
class Prompt:
    """One request's prompt."""

    parts: tuple[Message, ...]
    prompt_tokens: int
    """Text and tools, without the server's chat template and without pictures, whose tokens only the engine knows."""
    max_tokens: int
    tools: tuple[Json, ...] = ()
    think_s: float = 0.0
    """Time between the answer before it and this request."""
    wanted: tuple[str, ...] = ()
    """What a right answer holds; empty where nothing is scored."""

    @property
    def messages(self) -> tuple[tuple[str, str], ...]:
        """(role, text) of each message."""
        return tuple((part.role, part.text) for part in self.parts)

    @property
    def text(self) -> str:
        """All texts as one, for the completions endpoint; a word after a space is one token, so the sizes add up."""
        return " ".join(part.text for part in self.parts)

    def with_replies(self, replies: Sequence[str], planned: Sequence[int]) -> "Prompt":
        """The same conversation with what the model really said in the place of what was planned; calls and results stay.

        `planned` is the size of each planned reply, by which the prompt's size is corrected (a word is taken for a token).
        """
        parts: list[Message] = []
        left, size = list(zip(replies, planned, strict=False)), self.prompt_tokens
        for part in self.parts:
            if part.role == "assistant" and left:
                said, tokens = left.pop(0)
                size += len(said.split()) - tokens
                parts.append(replace(part, content=said))
            else:
                parts.append(part)
        return replace(self, parts=tuple(parts), prompt_tokens=max(1, size))
