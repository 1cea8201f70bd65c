import type { FuzzTarget } from '../target.ts'
import { publicAddress } from './addresses.ts'
import { awsEventStream } from './aws-event-stream.ts'
import * as answers from './chat-answers.ts'
import * as streams from './chat-streams.ts'
import { config, litellm, tomlEdit } from './config.ts'
import * as gateway from './gateway.ts'
import * as json from './json.ts'
import { jsonMatch } from './json-match.ts'
import * as matched from './matched.ts'
import { geminiMatch } from './matched-gemini.ts'
import { metadata } from './metadata.ts'
import * as numbers from './numbers.ts'
import { requestHead } from './request-head.ts'
import { seal } from './seal.ts'
import { sse } from './sse.ts'
import * as text from './text.ts'

/** Every target by its name on the command line, which is also the name of its folder of found inputs. */
export const targets: Readonly<Record<string, FuzzTarget>> = {
  sse,
  'aws-event-stream': awsEventStream,
  'json-scan': json.jsonScan,
  'json-steps': json.jsonSteps,
  'json-body': json.jsonBody,
  'json-text': json.jsonText,
  'json-match': jsonMatch,
  'chat-match': matched.chatMatch,
  'completion-match': matched.completionMatch,
  'messages-match': matched.messagesMatch,
  'gemini-match': geminiMatch,
  'count-match': matched.countMatch,
  'responses-match': matched.responsesMatch,
  'embed-match': matched.embedMatch,
  'canonical-json': json.canonicalJson,
  'vector-scanner': numbers.vectorScanner,
  base64: numbers.base64,
  floats: numbers.floats,
  integers: numbers.integers,
  'data-uri': text.dataUri,
  'header-text': text.headerText,
  'retry-after': text.retryAfter,
  'content-coding': text.contentCoding,
  utf8: text.utf8,
  'public-address': publicAddress,
  metadata,
  seal,
  config,
  'toml-edit': tomlEdit,
  litellm,
  'request-head': requestHead,
  'openai-stream': streams.openaiStream,
  'anthropic-stream': streams.anthropicStream,
  'google-stream': streams.googleStream,
  'bedrock-stream': streams.bedrockStream,
  'cohere-stream': streams.cohereStream,
  'messages-stream': streams.messagesStream,
  'responses-stream': streams.responsesStream,
  'openai-answer': answers.openaiAnswer,
  'anthropic-answer': answers.anthropicAnswer,
  'google-answer': answers.googleAnswer,
  'bedrock-answer': answers.bedrockAnswer,
  'cohere-answer': answers.cohereAnswer,
  'messages-answer': answers.messagesAnswer,
  'responses-answer': answers.responsesAnswer,
  requests: gateway.requests,
  'vector-answers': gateway.vectorAnswers,
  rankings: gateway.rankings,
}
