/**
 * A server that plays models in the APIs of four vendors, as strictly as the vendors do. It keeps
 * nothing between requests, apart from Anthropic's threads: a history must carry everything that the
 * vendor would need.
 *
 *   npx tsx scripts/conformance/upstream/main.ts [--port 4010]
 *   npx tsx scripts/conformance/upstream/main.ts --self-test
 *
 * | Vendor    | Base address                     | Operations                                         |
 * |-----------|----------------------------------|----------------------------------------------------|
 * | OpenAI    | `http://127.0.0.1:PORT/openai/v1`| `chat/completions`                                 |
 * | Anthropic | `http://127.0.0.1:PORT/anthropic`| `v1/messages`, `v1/messages/count_tokens`          |
 * | Google    | `http://127.0.0.1:PORT/google`   | `:generateContent`, `:streamGenerateContent`, `:countTokens` |
 * | Bedrock   | `http://127.0.0.1:PORT/bedrock`  | `converse`, `converse-stream`                      |
 *
 * Ten more speak the OpenAI format as `compatible/` describes them, at `http://127.0.0.1:PORT/NAME/v1`: `deepseek`,
 * `moonshot`, `zai`, `minimax`, `qwen` (on vLLM), `mistral`, `openrouter`, `groq`, `ollama`, `llamacpp`.
 *
 * Decisions are at `openai/v1/decisions`, `azure/openai/v1/decisions`, `typesafe/v1/systemone` and
 * `perplexity/v1/decisions`.
 *
 * The credential is `upstream-key` everywhere. The last part of the model id, after `--`, names the
 * scenario: `claude-sonnet-4-5--tool`, `gemini-3-pro--think`, or only `say`.
 *
 * | Scenario       | Behaviour                                                                      |
 * |----------------|--------------------------------------------------------------------------------|
 * | `say`          | a short text in several frames, with multi-byte characters                     |
 * | `think`        | reasoning with its proof, then as `tool`, or the text of `say` without tools   |
 * | `tool`         | calls the first tool once, then repeats the result                             |
 * | `parallel`     | calls two tools at once (or one twice), then repeats both results              |
 * | `structured`   | JSON that fits the requested schema, or the forced tool call                   |
 * | `task`         | writes a file, runs a command on it, counts and reads it at once, says what it holds |
 * | `picture`      | looks at the picture that the prompt names, says whether it saw one            |
 * | `rate-limited` | 429 with `retry-after: 1`                                                      |
 * | `refuse`       | 400                                                                            |
 * | `overloaded`   | 529 at Anthropic, else 503                                                     |
 * | `cut`          | the text of `say`; the connection is lost in its middle                        |
 * | `slow`         | the text of `say`, with 300 ms between frames                                  |
 *
 * `tool`, `parallel`, `task` and `picture` reason as well when the request turns reasoning on. Gemini signs the
 * first call of every turn.
 *
 * `GET /exchanges` lists the requests so far: `refusal` explains an error, and `lacksProof` marks a
 * request whose reasoning lost its proof on the way, `misread` says what the vendor passes over.
 * `DELETE /exchanges` forgets them.
 */
import { parseArgs } from 'node:util'
import { runSelfTest } from './self-test.ts'
import { startUpstream } from './server.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '4010' },
    'self-test': { type: 'boolean', default: false },
  },
})

if (values['self-test']) {
  await runSelfTest()
} else {
  const { address } = await startUpstream(Number(values.port))
  process.stdout.write(`the upstream listens on ${address}\n`)
}
