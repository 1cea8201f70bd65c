import * as z from 'zod'
import type { Capability } from '../../core/capability.ts'
import type { ListPlace, ModelLister, NamedFacts } from '../../core/model-list.ts'
import { toNextPage } from '../base/model-list.ts'
import { readAwsSecret } from './auth/credential.ts'
import { buildControlUrl } from './url.ts'

const models = z.looseObject({
  modelSummaries: z.array(
    z.looseObject({
      modelId: z.string(),
      modelArn: z.string().nullish(),
      outputModalities: z.array(z.string()).nullish(),
      inferenceTypesSupported: z.array(z.string()).nullish(),
    }),
  ),
})
const profiles = z.looseObject({
  inferenceProfileSummaries: z.array(
    z.looseObject({
      inferenceProfileId: z.string(),
      inferenceProfileArn: z.string().nullish(),
      status: z.string().nullish(),
    }),
  ),
  nextToken: z.string().nullish(),
})

type Model = z.infer<typeof models>['modelSummaries'][number]

/** The token of the first page of profiles. Those of the next ones follow it. */
const ofProfiles = 'profiles:'

/**
 * Lists the models that a region serves on demand, and then the inference profiles of the account: newer models are
 * served by these alone. The credential needs `bedrock:ListFoundationModels` and `bedrock:ListInferenceProfiles`.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html
 */
export const bedrockModels: ModelLister = {
  buildRequest(place, token) {
    if (token === undefined)
      return toRequest(buildControlUrl(toLocation(place), '/foundation-models'))
    const url = buildControlUrl(toLocation(place), '/inference-profiles')
    url.searchParams.set('maxResults', '1000')
    const next = token.slice(ofProfiles.length)
    if (next !== '') url.searchParams.set('nextToken', next)
    return toRequest(url)
  },
  readPage(body) {
    const first = models.safeParse(body)
    if (first.success) {
      const served = first.data.modelSummaries.filter(isOnDemand)
      return { models: served.map(toFacts), next: ofProfiles }
    }
    const later = profiles.safeParse(body)
    if (!later.success) return undefined
    const { inferenceProfileSummaries: summaries, nextToken } = later.data
    return {
      models: summaries
        .filter(({ status }) => (status ?? 'ACTIVE') === 'ACTIVE')
        .map(({ inferenceProfileId: name, inferenceProfileArn: arn }) => ({
          name,
          ...toAliases(arn),
          capabilities: findCapabilities(name, ['TEXT']),
        })),
      ...toNextPage(nextToken && `${ofProfiles}${nextToken}`),
    }
  },
}

function toRequest({ href: url }: URL) {
  return { url, headers: {} }
}

/** As requests to a model whose id names no region. */
function toLocation({ baseUrl, secret, env }: ListPlace) {
  return { baseUrl, modelId: '', credentialRegion: readAwsSecret(secret ?? '', env).region, env }
}

function isOnDemand({ inferenceTypesSupported: types }: Model): boolean {
  return !types || types.includes('ON_DEMAND')
}

function toFacts({ modelId: name, modelArn: arn, outputModalities: outputs }: Model): NamedFacts {
  return { name, ...toAliases(arn), capabilities: findCapabilities(name, outputs ?? ['TEXT']) }
}

function toAliases(arn: string | null | undefined): Pick<NamedFacts, 'aliases'> {
  return arn ? { aliases: [arn] } : {}
}

/** Models for rerank are listed with text for output, and profiles without their outputs. */
function findCapabilities(name: string, outputs: readonly string[]): readonly Capability[] {
  if (/rerank/.test(name)) return ['rerank']
  if (/embed/.test(name) || outputs.includes('EMBEDDING')) return ['embed']
  if (/(^|\.)stability\.|-(?:image|canvas|reel|sonic)\b/.test(name)) return []
  return outputs.includes('TEXT') ? ['chat'] : []
}
