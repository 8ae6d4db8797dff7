"""Prompts of a wanted number of tokens, fresh in every Run, made before the window opens."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from perfd.bench.load import haystack, pictures, tools
from perfd.bench.load.events import RequestTrace
from perfd.bench.load.messages import Call, Message, Prompt
from perfd.bench.load.plan import LoadPlan, PromptKind, PromptPlan
from perfd.bench.load.replay import Due, Recorded, read_sessions
from perfd.bench.load.schedule import draw
from perfd.bench.load.sizes import SessionSize, TurnSize, session_size
from perfd.bench.load.vocabulary import ESTIMATED, Tokenize, Vocabulary, learn_vocabulary
from perfd.bench.load.writer import NONCE_TOKENS, Writer

__all__ = ["ESTIMATED", "Prompt", "PromptMaker", "Tokenize", "Vocabulary", "learn_vocabulary", "maker_for", "planned_replies"]

BLOCK_TOKENS = 512
"""Tokens of one hash_id of a trace, as Mooncake publishes them."""
AGENT_SHARE = 4
"""A sub-agent begins with a quarter of its parent's own context: a task, and not the whole log."""


class PromptMaker:
    """Makes prompts that depend on the plan's seed and occasion and on their own number, and on nothing else.

    Session numbers: with k sub-agents, session n has the number n (k + 1), and its sub-agents the k numbers after it.
    """

    def __init__(
        self,
        plan: PromptPlan,
        vocabulary: Vocabulary = ESTIMATED,
        dues: Sequence[Due] = (),
        replies: Mapping[int, Sequence[str]] | None = None,
    ) -> None:
        self.plan = plan
        self.vocabulary = vocabulary
        self.writer = Writer(plan, vocabulary)
        self._dues = dues
        """Sizes that a trace gives, by session."""
        self._replies = replies or {}
        """Live: what was really answered, by session."""

    @cached_property
    def _system_words(self) -> list[str]:
        return self.writer.words("system", self.plan.system_tokens - self._nonce_in_system)

    @cached_property
    def _recorded(self) -> tuple[Recorded, ...]:
        return read_sessions(self.plan.recorded) if self.plan.recorded else ()

    @property
    def _nonce_in_system(self) -> int:
        return NONCE_TOKENS if self.plan.system_tokens > NONCE_TOKENS and not self.plan.reuse_prefix else 0

    @property
    def family(self) -> int:
        """How many session numbers one session takes: its own, and one for each sub-agent."""
        return 1 + self.plan.agent.agents

    def chain(self, index: int, due: Due | None = None) -> list[Prompt]:
        """The prompts of the session with this number, one a turn."""
        prompts = self._chain(index, due)
        replies = self._replies.get(index)
        if not replies:
            return prompts
        planned = planned_replies(prompts)
        return [prompt.with_replies(replies[:turn], planned) for turn, prompt in enumerate(prompts)]

    def _chain(self, index: int, due: Due | None) -> list[Prompt]:
        session, agent = divmod(index, self.family)
        if self._recorded:
            return self._replayed(index, self._recorded[session % len(self._recorded)])
        due = due or (self._dues[session] if session < len(self._dues) else None)
        if due is not None and due.blocks:
            return [self._blocks(index, due)]
        size = self._sized(session, due)
        if agent:
            return self._session(index, self._agent_size(size))
        if self.plan.kind is PromptKind.LONG_CONTEXT:
            return haystack.prompts(self.plan, self.writer, self.vocabulary, index, size)
        return self._session(index, size)

    def _sized(self, session: int, due: Due | None) -> SessionSize:
        if due is None or due.prompt_tokens is None:
            size = session_size(self.plan, session)
            return size if self.plan.kind is not PromptKind.BATCH else SessionSize(size.turns[:1])
        return SessionSize((TurnSize(due.prompt_tokens, due.max_tokens or self.plan.max_tokens, 0.0, 0),))

    def _agent_size(self, parent: SessionSize) -> SessionSize:
        plan = self.plan
        shared = plan.system_tokens + self._tools(0).tokens
        own = max(NONCE_TOKENS, (parent.turns[0].new_tokens - shared) // AGENT_SHARE)
        turn = TurnSize(plan.growth_tokens, plan.max_tokens, plan.think_s, 1)
        first = TurnSize(shared + own, plan.max_tokens, 0.0, 0)
        return SessionSize((first, *(turn,) * (plan.agent.agent_turns - 1)))

    def _tools(self, index: int) -> tools.ToolBox:
        """Templates write tools before everything else, so the nonce that keeps prompts apart stands in them too."""
        if not self.plan.agent.tools:
            return tools.EMPTY
        return self._shared_tools if self.plan.reuse_prefix else self._toolbox(f"tools {index}")

    @cached_property
    def _shared_tools(self) -> tools.ToolBox:
        return self._toolbox("tools")

    def _toolbox(self, name: str) -> tools.ToolBox:
        schemas = tuple(
            tools.schema(tool, " ".join(self.writer.words(f"{name} {tool}", tools.DESCRIPTION_WORDS)))
            for tool in tools.tool_names(self.plan.agent.tools)
        )
        return tools.ToolBox(schemas, sum(self.vocabulary.count(json.dumps(schema)) for schema in schemas))

    def _opening(self, name: str, size: int) -> tuple[Message, ...]:
        """System prompt (where there is one) and first user message, `size` tokens together."""
        system, writer = self.plan.system_tokens, self.writer
        if not system or size <= system:
            return (Message("user", writer.fresh(name, size)),)
        if self._nonce_in_system:
            nonce = writer.words(f"nonce {name}", NONCE_TOKENS)
            told = Message("system", self.vocabulary.join(nonce + self._system_words))
            return (told, Message("user", writer.text(name, size - system)))
        return (Message("system", self.vocabulary.join(self._system_words)), Message("user", writer.fresh(name, size - system)))

    def _session(self, index: int, size: SessionSize) -> list[Prompt]:
        """Turns over one growing prefix; the assistant's part is made beforehand, so that every Build sees equal prompts."""
        name = f"session {index}"
        box = self._tools(index)
        first = size.turns[0]
        parts = list(self._opening(name, max(1, first.new_tokens - box.tokens)))
        if self.plan.kind is PromptKind.MULTIMODAL:
            parts[-1] = replace(parts[-1], images=self._images(index))
        tokens = max(first.new_tokens, box.tokens + 1)
        prompts = [Prompt(tuple(parts), tokens, first.answer_tokens, box.schemas)]
        for place, turn in enumerate(size.turns[1:], start=1):
            said = min(size.turns[place - 1].answer_tokens, turn.new_tokens // 2)
            parts += self._turn(f"{name} turn {place}", turn, said, box)
            tokens += turn.new_tokens
            prompts.append(Prompt(tuple(parts), tokens, turn.answer_tokens, box.schemas, turn.think_s))
        return prompts

    def _turn(self, name: str, turn: TurnSize, said: int, box: tools.ToolBox) -> list[Message]:
        """What one turn adds: the assistant's message, and the user's next one or the results of its tool calls."""
        writer = self.writer
        if not box.schemas:
            answer = Message("assistant", writer.text(name + " said", said))
            return [answer, Message("user", writer.text(name, turn.new_tokens - said))]
        calls = [self._call(f"{name} call {at}", box, at) for at in range(max(1, turn.calls))]
        used = sum(self._call_tokens(call.name) for call in calls)
        said = max(0, said - used)
        left = max(len(calls), turn.new_tokens - said - used)
        shares = [left // len(calls) + (at < left % len(calls)) for at in range(len(calls))]
        results = [
            Message("tool", writer.text(f"{name} result {at}", share), answers=call.call_id)
            for at, (call, share) in enumerate(zip(calls, shares, strict=True))
        ]
        return [Message("assistant", writer.text(name + " said", said), calls=tuple(calls)), *results]

    def _call(self, name: str, box: tools.ToolBox, at: int) -> Call:
        rng = self.writer.rng(name)
        tool = box.names[int(rng.integers(len(box.names)))]
        return tools.call(tool, f"call_{int(rng.integers(1 << 40)):010x}{at}", self.writer.words(name, tools.ARGUMENT_WORDS))

    def _call_tokens(self, tool: str) -> int:
        """Calls of one tool are equally long, as each holds as many words."""
        if tool not in self._call_sizes:
            sample = tools.call(tool, "", self.vocabulary.words[: tools.ARGUMENT_WORDS])
            self._call_sizes[tool] = self.vocabulary.count(f"{sample.name} {sample.arguments}")
        return self._call_sizes[tool]

    @cached_property
    def _call_sizes(self) -> dict[str, int]:
        return {}

    def _images(self, index: int) -> tuple[str, ...]:
        """The pictures of a session's first message: its own, or the Run's."""
        plan = self.plan.pictures
        rng = self.writer.rng("pictures" if plan.reuse else f"pictures {index}")
        shown = [pictures.picture(rng, plan.width, plan.height) for _ in range(plan.images)]
        if plan.frames:
            first = pictures.picture(rng, plan.width, plan.height)
            shown += [first, *pictures.frames(rng, first, plan.frames - 1)]
        return tuple(map(pictures.data_url, shown))

    def _blocks(self, index: int, due: Due) -> Prompt:
        """A prompt of named blocks: equal names at the start of two prompts are a shared prefix, as the trace had it."""
        size = due.prompt_tokens or self.plan.prompt_tokens
        blocks = due.blocks[: -(-size // BLOCK_TOKENS)]
        text = [word for block in blocks for word in self.writer.words(f"block {block}", BLOCK_TOKENS)]
        text = text[:size] + self.writer.words(f"prompt {index}", size - len(text))
        return Prompt((Message("user", self.vocabulary.join(text)),), size, due.max_tokens or self.plan.max_tokens)

    def _replayed(self, index: int, recorded: Recorded) -> list[Prompt]:
        """A recorded session: one request for each assistant message, over all that was said before it.

        Eight fresh words stand before its first message, so that no Run finds another's in the cache.
        """
        nonce, count = self.writer.text(f"nonce session {index}", NONCE_TOKENS), self.vocabulary.count
        parts: list[Message] = []
        prompts: list[Prompt] = []
        tokens = NONCE_TOKENS
        for message in recorded.messages:
            size = count(message.text)
            if message.role == "assistant":
                prompts.append(Prompt(tuple(parts), tokens, max(1, size), think_s=self.plan.think_s if prompts else 0.0))
            tokens += size
            parts.append(message if parts else replace(message, content=f"{nonce}\n{message.content}"))
        return prompts[: self.plan.turns] if self.plan.turns > 1 else prompts


def planned_replies(prompts: Sequence[Prompt]) -> list[int]:
    """Words of each assistant message that was made beforehand: what a live reply takes the place of."""
    return [len(part.content.split()) for part in prompts[-1].parts if part.role == "assistant"]


def maker_for(plan: LoadPlan, vocabulary: Vocabulary, traces: Sequence[RequestTrace] = ()) -> PromptMaker:
    """The maker that makes a load's prompts again: with the sizes of its trace, and with the live replies that `traces` kept."""
    dues = draw(plan).dues if plan.trace is not None else ()
    replies: dict[int, list[str]] = defaultdict(list)
    for trace in sorted(traces, key=lambda trace: trace.turn) if plan.prompts.live else ():
        replies[trace.session].append(trace.text or "")
    return PromptMaker(plan.prompts, vocabulary, dues, replies)
