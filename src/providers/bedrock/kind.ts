import type { ChatCall } from '../../core/chat.ts'
import type { AccessKey, CloudSource } from '../../core/cloud-credential.ts'
import type { ChatEndpoint, DialectRequest, HeaderReader } from '../../core/endpoints.ts'
import { UpstreamFault } from '../../core/failure.ts'
import type { StreamIdentity } from '../../core/frame.ts'
import { newCompletionId } from '../../core/ids.ts'
import type {
  Authorizer,
  CloudContext,
  CredentialContext,
  DialectTarget,
  ProviderKind,
} from '../../core/provider-kind.ts'
import { runAtOnce } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { maskSecrets } from '../../wire/mask.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { estimateTranslatedOutput } from '../base/output-bound.ts'
import { probeRoot } from '../base/probe.ts'
import { encodeJsonBody } from '../base/request.ts'
import { translatedForm } from '../base/request-form.ts'
import { memoizePerCall } from '../canonical/per-call.ts'
import { type AnswerContext, parseConverseAnswer } from './answer.ts'
import { writeAnswerEvents } from './answer-events.ts'
import {
  checkAwsSecret,
  maskCredential,
  readAmbientSecret,
  readAwsSecret,
} from './auth/credential.ts'
import { signRequest } from './auth/signature.ts'
import { converseMarker } from './auto-marks.ts'
import { bedrockEmbed, listInputTypes } from './embed.ts'
import { parseBedrockError } from './errors.ts'
import { bedrockModels } from './list.ts'
import { findBedrockModel } from './models.ts'
import { readNames, toConverseRequest } from './request.ts'
import { bedrockRerank } from './rerank.ts'
import { ConverseStream } from './stream.ts'
import {
  bedrockBaseUrl,
  buildBedrockUrl,
  extractModelId,
  findConfiguredRegion,
  hasAddress,
  resolveBaseUrl,
  resolveRegion,
} from './url.ts'

/** Amazon Bedrock, through the Converse API, which is the same for all of its models. */
export const bedrock: ProviderKind = Object.freeze({
  name: 'bedrock',
  vendorName: 'aws.bedrock',
  capabilities: ['chat', 'embed', 'rerank'],
  defaultBaseUrl: bedrockBaseUrl,
  acceptsRegion: true,
  canFetchImages: false,
  writesCache: 'when-marked',
  cloud: 'aws',
  ownSettings: ['aws_profile'],
  listInputTypes,
  findMarker: ({ upstreamId, modelId }) =>
    findBedrockModel(upstreamId, modelId).claude && converseMarker,
  createAuthorizer,
  createCloudAuthorizer,
  checkSecret: checkAwsSecret,
  findAmbientSecret: readAmbientSecret,
  findWarning: findRegionWarning,
  chat: bedrockChat,
  embed: bedrockEmbed,
  rerank: bedrockRerank,
  models: bedrockModels,
  // Only a configured `base_url` is probed, which is a URL or a region.
  probe: (baseUrl) => probeRoot(resolveBaseUrl(baseUrl, baseUrl)),
} satisfies ProviderKind)

const eventStream = 'application/vnd.amazon.eventstream'

function bedrockChat(target: DialectTarget): ChatEndpoint {
  const { baseUrl, upstreamId, modelId, maxOutputTokens, clock, env, secret, cloud } = target
  const model = findBedrockModel(upstreamId, modelId)
  const credential = readAwsSecret(secret ?? '', env)
  const location = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  const converseUrl = buildBedrockUrl(location, 'converse')
  const streamUrl = buildBedrockUrl(location, 'converse-stream')
  const translate = memoizePerCall((call) => toConverseRequest(call, { model, maxOutputTokens }))
  const mask = (text: string) =>
    (cloud?.secrets ?? []).reduce(maskSecrets, maskCredential(text, credential))
  const createIdentity = (header: HeaderReader): StreamIdentity => {
    const requestId = header('x-amzn-requestid')
    return {
      id: requestId ? `chatcmpl-${requestId}` : newCompletionId(),
      created: unixSeconds(clock),
      model: modelId,
    }
  }
  // Without the call itself: a stream would keep the request body in memory until it ends.
  const toContext = (call: ChatCall, header: HeaderReader): AnswerContext => ({
    identity: createIdentity(header),
    names: readNames(call),
  })
  return {
    translateInSteps: translate.inSteps,
    listUnsupported: (call) => translate(call).dropped,
    buildRequest: (call) => ({
      url: call.stream ? streamUrl : converseUrl,
      headers: {
        'content-type': 'application/json',
        accept: call.stream ? eventStream : 'application/json',
      },
      body: encodeJsonBody(translate(call).body),
    }),
    estimateOutput: (call) =>
      estimateTranslatedOutput(call, { sentBound: translate(call).maxTokens, maxOutputTokens }),
    parseAnswer: (body, call, header) =>
      runAtOnce(parseConverseAnswer(body, toContext(call, header))),
    parseAnswerInSteps: (body, call, header) => parseConverseAnswer(body, toContext(call, header)),
    createDecoder: (call, header) => new ConverseStream({ ...toContext(call, header), mask }),
    writeEvents: writeAnswerEvents,
    streamType: eventStream,
    parseError: (status, body, header) => parseBedrockError(status, mask(body), header),
    streamEnd: 'terminator',
    writesAnswers: true,
    form: {
      ...translatedForm,
      takesCacheControl: model.hasCachePoints,
      takesThinkingBlocks: model.hasSignedReasoning,
      takesClientTools: model.claude !== undefined,
      takesResultMedia: model.hasResultMedia,
      takesResultErrors: model.hasResultStatus,
    },
  }
}

/** The default region is wrong for most accounts, and AWS then answers with an error about the key. */
function findRegionWarning({
  baseUrl,
  upstreamId,
  env,
  secret,
  cloud,
}: DialectTarget): string | undefined {
  const credential = readAwsSecret(secret ?? '', env)
  const location = { baseUrl, modelId: upstreamId, credentialRegion: credential.region, env }
  if (findConfiguredRegion(location) !== undefined) return undefined
  const region = resolveRegion(location)
  const uses = hasAddress(location) ? [] : [`go to ${region}`]
  if (credential.kind === 'access-key' || cloud) uses.push(`are signed for ${region}`)
  if (uses.length === 0) return undefined
  return `no region in base_url, an ARN, the credential or AWS_REGION: requests ${uses.join(' and ')}`
}

/**
 * Sends an API key as a bearer token, and signs each request with an access key. A signature is made
 * for each attempt, because it is valid for five minutes.
 */
function createAuthorizer(context: CredentialContext): Authorizer {
  const credential = readAwsSecret(context.secret, context.env)
  switch (credential.kind) {
    case 'api-key':
      return authorizeWithBearer({ ...context, secret: credential.key })
    case 'access-key':
      return (request) => sign(request, credential, context)
    case 'unusable':
      return () => {
        const message = `the AWS credential is unusable: ${credential.reason}`
        throw new UpstreamFault({ kind: 'no-credential', message })
      }
    default:
      return credential satisfies never
  }
}

/** Signs each request with the access key that AWS provides at that moment. */
function createCloudAuthorizer(source: CloudSource, context: CloudContext): Authorizer {
  return async (request) => {
    const credential = await source.current()
    if (credential.kind === 'access-key') return sign(request, credential, context)
    throw new TypeError('a credential of AWS is an access key')
  }
}

type SigningKey = Pick<AccessKey, 'id' | 'secret' | 'sessionToken'> & {
  readonly region?: string | undefined
}

function sign(request: DialectRequest, credential: SigningKey, context: CloudContext) {
  const { baseUrl, clock, env } = context
  return signRequest(request, {
    credential,
    region: resolveRegion({
      baseUrl,
      modelId: extractModelId(request.url),
      credentialRegion: credential.region,
      env,
    }),
    // The signed name differs from the `bedrock-runtime` of the address.
    service: 'bedrock',
    now: clock.now(),
  })
}
