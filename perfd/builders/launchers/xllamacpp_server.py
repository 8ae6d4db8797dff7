"""Serves a model with the llama.cpp server that the wheel xllamacpp embeds, on the address asked for, until SIGTERM.

It is copied into the Build and needs nothing but xllamacpp. The server speaks the API of llama-server: /health, /metrics,
/v1/chat/completions, /completion, /tokenize.
"""

import argparse
import signal
import sys
from pathlib import Path

import xllamacpp


def main() -> int:
    """0 after a signal to end; 1 with a sentence on stderr where the server cannot start."""
    asked = arguments()
    if not asked.model.is_file():
        return refuse(f"there are no weights at {asked.model}")
    # Blocked before the server makes its threads: they inherit it, and only sigwait below sees the signal.
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    try:
        server = xllamacpp.Server(parameters(asked))
    except RuntimeError as error:
        return refuse(f"xllamacpp cannot serve {asked.model.name} on {asked.host}:{asked.port}: {error}")
    # Without this line the server would be collected, and with it the socket.
    sys.stderr.write(f"listening on {server.listening_address}\n")
    signal.sigwait(ends)
    return 0


def arguments() -> argparse.Namespace:
    """The command line; the names are those of llama-server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="GGUF file")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, required=True, help="port to listen on")
    parser.add_argument("--threads", type=int, default=1, help="threads for prompt and generation alike")
    parser.add_argument("--ctx-size", type=int, default=8192, help="tokens of context, shared by all slots")
    parser.add_argument("--parallel", type=int, default=4, help="requests that are served at once")
    return parser.parse_args()


def parameters(asked: argparse.Namespace) -> "xllamacpp.CommonParams":
    """llama.cpp's parameters, with everything off that would make one night differ from the next."""
    params = xllamacpp.CommonParams()
    params.model.path = str(asked.model)
    params.model_alias = {asked.model.stem}
    if hasattr(params, "hostnames"):
        params.hostnames = [asked.host]
    else:  # releases before October 2026 listen on one name
        params.hostname = asked.host
    params.port = asked.port
    params.cpuparams.n_threads = asked.threads
    params.cpuparams_batch.n_threads = asked.threads
    params.n_ctx = asked.ctx_size
    params.n_parallel = asked.parallel
    params.endpoint_metrics = True
    params.endpoint_props = False
    params.ui = False
    # Prompts that left their slot are kept in up to 8 GiB of memory by default, which grows over a night.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    # Would shrink the context to whatever memory is free at the moment.
    params.fit_params = False
    params.offline = True
    return params


def refuse(sentence: str) -> int:
    """1, once the sentence stands on stderr."""
    sys.stderr.write(f"{sentence}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
