import { type BilledTool, vendorTools } from '../../core/billing.ts'
import type { AskedCalls, PriceAsk } from '../../core/price-table.ts'
import { isCount } from '../../core/usage.ts'
import { isObject, isSet } from '../../wire/json/parse.ts'
import type { DefinedTool } from './defined-tools.ts'

/** The members of a request that make a vendor run tools, in every API. */
export interface ToolMembers {
  /** The values of `tools`. Repeated members all count: it can only be reserved for too much. */
  readonly tools: readonly unknown[]
  /** Tools that the conversation defines. */
  readonly definedTools: readonly DefinedTool[]
  /** `tools` of `extra_body`. */
  readonly extraTools: unknown
  /** The members that ask for a search of the web by their presence. */
  readonly searching: readonly string[]
  /** A prompt that the vendor has stored may have tools of its own. */
  readonly hasStoredTools: boolean
  /** xAI searches what is attached to a message without being asked. */
  readonly mayHaveFiles: boolean
  readonly maxToolCalls: unknown
}

/**
 * Lists the vendor's tools that a request allows. A tool of an unknown form counts as all of them. `max_tool_calls`
 * raises what is reserved and never lowers it, because an upstream of another API does not get it.
 */
export function listAskedTools(members: ToolMembers): Pick<PriceAsk, 'tools' | 'toolPaths'> {
  const { tools, extraTools, searching, hasStoredTools, mayHaveFiles, maxToolCalls } = members
  const calls = isCount(maxToolCalls) ? Math.min(maxToolCalls, mostCalls) : 0
  const unbounded: AskedCalls = { calls, isBounded: false }
  const named = new Map<BilledTool, string[]>()
  const unnamed: string[] = []
  const asked = new Map<BilledTool, AskedCalls>()
  const add = (tool: BilledTool, own: AskedCalls) => {
    const known = asked.get(tool)
    asked.set(tool, known ? join(known, own) : own)
  }
  const addUnnamed = (path: string) => {
    unnamed.push(path)
    for (const name of vendorTools) add(name, unbounded)
  }
  const addNamed = (name: BilledTool, path: string, own: AskedCalls = unbounded) => {
    const paths = named.get(name)
    if (paths) paths.push(path)
    else named.set(name, [path])
    add(name, own)
  }
  const addTool = (tool: unknown, path: string) => {
    const names = nameTools(tool)
    if (!names) return addUnnamed(path)
    for (const name of names) addNamed(name, path, readBound(tool))
  }
  for (const list of tools) {
    for (const [at, tool] of [list].flat().entries()) addTool(tool, `tools.${at}`)
  }
  for (const { tool, path } of members.definedTools) addTool(tool, path)
  if (isSet(extraTools)) for (const tool of [extraTools].flat()) addTool(tool, 'extra_body.tools')
  for (const member of searching) addNamed('web_search', member)
  if (mayHaveFiles) add('attachment_search', unbounded)
  if (hasStoredTools) addUnnamed('prompt')
  return { tools: asked, toolPaths: { named, unnamed } }
}

/** More calls than a vendor runs for one answer. */
const mostCalls = 1_000_000

function join(one: AskedCalls, other: AskedCalls): AskedCalls {
  const isBounded = one.isBounded && other.isBounded
  return {
    calls: isBounded ? one.calls + other.calls : Math.max(one.calls, other.calls),
    isBounded,
  }
}

/**
 * Reads how often Claude may run a tool. Only its own types have the bound: other vendors ignore the member.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
function readBound(tool: unknown): AskedCalls | undefined {
  if (!isObject(tool)) return undefined
  const { type, max_uses: uses } = tool
  const isKept = typeof type === 'string' && /^web_(?:search|fetch)_20\d{6}$/.test(type)
  return isKept && isCount(uses) ? { calls: Math.min(uses, mostCalls), isBounded: true } : undefined
}

/** Undefined for a tool of an unknown form. */
function nameTools(tool: unknown): readonly BilledTool[] | undefined {
  if (!isObject(tool)) return undefined
  const { type } = tool
  const names = typeof type === 'string' ? [type] : Object.keys(tool)
  const found = names.flatMap((name) => {
    const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
    return ofVendors.find(([start]) => plain.startsWith(start))?.[1] ?? []
  })
  if (found.length > 0) return found
  return names.some((name) => ofClients.test(name)) ? [] : undefined
}

/** By the beginnings of their types, or of the members that Google names its tools by. */
const ofVendors: readonly (readonly [string, readonly BilledTool[]])[] = [
  ['websearch', ['web_search']],
  ['googlesearch', ['web_search']],
  ['webfetch', ['web_fetch']],
  ['urlcontext', ['web_fetch']],
  // xAI bills it as a search of collections.
  ['filesearch', ['file_search', 'collections_search', 'attachment_search']],
  ['codeexecution', ['code_execution']],
  ['codeinterpreter', ['code_execution']],
  ['googlemaps', ['maps']],
  ['xsearch', ['x_search']],
  ['collectionssearch', ['collections_search']],
  ['attachmentsearch', ['attachment_search']],
]

/** Tools that the client runs, and those that no vendor bills by the call. Without a type, a tool has a name. */
const ofClients =
  /^(?:function|custom|name$|input_schema$|computer|bash|text_editor|memory|shell|local_shell|apply_patch|image_generation|mcp|namespace|tool_search)/
