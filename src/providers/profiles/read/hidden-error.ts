import { isObject } from '../../../wire/json/parse.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * True for a body or a chunk with status 200 that is an error: `base_resp` has another code than 0, or there is, in
 * place of choices, `error`, `detail`, `success: false`, or a code with a text.
 */
export function isHiddenError(body: Members): boolean {
  const { base_resp: base, choices } = body
  if (base !== undefined && readBaseCode(base) !== undefined) return true
  return !Array.isArray(choices) && isErrorWithoutChoices(body)
}

function isErrorWithoutChoices(body: Members): boolean {
  const { error, object, detail, success, code, msg, message } = body
  if (object === 'error' || success === false) return true
  if ((error ?? detail ?? undefined) !== undefined) return true
  return isText(msg ?? message) && isErrorCode(code)
}

/** Returns the status that the code of such an error means; undefined where no vendor documents it. */
export function mapHiddenStatus({ base_resp: base, code }: Members): number | undefined {
  const ofBase = readBaseCode(base)
  if (ofBase !== undefined) return baseStatuses.get(ofBase)
  const ofBody = Number(code)
  return bodyStatuses.get(ofBody) ?? baseStatuses.get(ofBody)
}

function readBaseCode(base: unknown): number | undefined {
  const code = isObject(base) ? Number(base['status_code'] ?? 0) : 0
  return code === 0 ? undefined : code
}

function isErrorCode(code: unknown): boolean {
  if (typeof code === 'string') return !/^(?:0*|20\d|ok|success)$/i.test(code)
  return typeof code === 'number' && code !== 0 && !(code >= 200 && code < 300)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** MiniMax, `base_resp.status_code`: https://platform.minimax.io/docs/api-reference/errorcode */
const baseStatuses = invert({
  500: [1000, 1001, 1013, 1024, 1033],
  429: [1002, 1041, 2045, 2056],
  401: [1004, 2049],
  402: [1008],
  403: [2038, 2042],
  400: [1026, 1027, 1039, 1042, 1043, 1044, 2013, 2037, 2039, 2048],
})

/**
 * Z.ai, `code` beside `msg`; some numbers of MiniMax mean something else there. The page lists the codes, and gives
 * 429 for an empty balance and for a locked account: https://docs.bigmodel.cn/cn/api/api-code
 */
const bodyStatuses = invert({
  400: [1210, 1213, 1214, 1215, 1261, 1301],
  401: [1000, 1001, 1002, 1003, 1004],
  404: [1211, 1222],
  429: [1112, 1113, 1121, 1302, 1303, 1304, 1305, 1308, 1309, 1310, 1312, 1313],
  500: [1120, 1230, 1234],
})

function invert(codes: Readonly<Record<number, readonly number[]>>): ReadonlyMap<number, number> {
  return new Map(
    Object.entries(codes).flatMap(([status, list]) =>
      list.map((code) => [code, Number(status)] as const),
    ),
  )
}
