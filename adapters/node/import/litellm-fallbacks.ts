import { isPattern, PatternIndex } from '../../../src/core/model-pattern.ts'
import type { LitellmFile } from './litellm-file.ts'
import type { Notes } from './litellm-notes.ts'
import type { ConvertedModel, Fallbacks } from './litellm-result.ts'
import type { Settings } from './litellm-settings.ts'
import { findCapability } from './litellm-toml.ts'

interface FallbackContext {
  /** The models by their names in LiteLLM and by their ids. */
  readonly groups: ReadonlyMap<string, readonly ConvertedModel[]>
  readonly settings: Settings
  readonly notes: Notes
}

/** Returns a function that lists the fallbacks of a name: models, so a route is replaced by its targets. */
export function createFallbackFinder(context: FallbackContext): (name: string) => Fallbacks {
  const { settings, notes } = context
  const lists = readLists(settings, notes)
  const resolve = createResolver(context)
  for (const [setting, list] of Object.entries(lists)) {
    for (const name of list.keys()) noteMissing({ setting, list, name }, { ...context, resolve })
  }
  const find = (name: string): Fallbacks => {
    const own = context.groups.get(name) ?? []
    const pick = (list: List) => fit(own, (list.get(name) ?? list.get('*') ?? []).flatMap(resolve))
    const byCause = [
      ['context_length', pick(lists.context_window_fallbacks)],
      ['content_filter', pick(lists.content_policy_fallbacks)],
    ] as const
    const general = pick(lists.fallbacks)
    const special = byCause.flatMap(([, ids]) => ids)
    const further = [...new Set(special)].filter((id) => !general.includes(id))
    const note = `fallbacks of ${name}: ${further.join(', ')} also when a call fails, since a model has one list`
    if (further.length > 0 && !notes.next.includes(note)) notes.next.push(note)
    return {
      ids: [...general, ...further],
      causes: byCause.flatMap(([cause, ids]) => (ids.length > 0 ? [cause] : [])),
    }
  }
  return find
}

/** What a name in a list of fallbacks stands for. */
interface Found {
  readonly id: string
  readonly capability: string | undefined
}

type List = ReadonlyMap<string, readonly string[]>

/** By the names of LiteLLM. */
interface Lists {
  readonly fallbacks: List
  readonly context_window_fallbacks: List
  readonly content_policy_fallbacks: List
}

/** The lists; `*` is that of a name without its own. Those of the router win. */
function readLists(
  { router_settings: router, litellm_settings: own }: Settings,
  notes: Notes,
): Lists {
  const read = (name: keyof Lists) =>
    new Map((router?.[name] ?? own?.[name] ?? []).flatMap((each) => Object.entries(each)))
  const others = router?.default_fallbacks ?? own?.default_fallbacks
  const general = read('fallbacks')
  if (others && general.has('*'))
    notes.left.push('default_fallbacks: those of "*" in fallbacks count')
  else if (others) general.set('*', others)
  return {
    fallbacks: general,
    context_window_fallbacks: read('context_window_fallbacks'),
    content_policy_fallbacks: read('content_policy_fallbacks'),
  }
}

/** Returns a function that finds the models of a name: its own, those of its alias, or what a pattern serves. */
function createResolver({ groups, settings }: FallbackContext) {
  const aliases = new Map(readAliases(settings).map(({ alias, target }) => [alias, target]))
  const models = [...new Set([...groups.values()].flat())]
  const patterns = new PatternIndex(
    models.filter(({ id }) => isPattern(id)).map((model) => [model.id, model] as const),
  )
  return (name: string): readonly Found[] => {
    const own = groups.get(name) ?? groups.get(aliases.get(name) ?? '')
    // A pattern itself cannot be a fallback.
    if (own) return own.filter(({ id }) => !isPattern(id)).map(toFound)
    const match = patterns.find(name)
    return match ? [{ ...toFound(match.entry), id: name }] : []
  }
}

function toFound(model: ConvertedModel): Found {
  return { id: model.id, capability: findCapability(model) }
}

/** The fallbacks that can serve what a model serves, each once. */
function fit(own: readonly ConvertedModel[], found: readonly Found[]): readonly string[] {
  const [first] = own
  if (first === undefined) return []
  const ids = found
    .filter(({ id }) => own.every((model) => model.id !== id))
    .filter(({ capability }) => capability === findCapability(first))
    .map(({ id }) => id)
  return [...new Set(ids)]
}

/** The fallbacks that a setting of LiteLLM names for a model. */
interface Listed {
  readonly setting: string
  readonly list: List
  readonly name: string
}

interface NoteContext extends FallbackContext {
  readonly resolve: (name: string) => readonly Found[]
}

/** Notes what of the fallbacks of a name is not in the result. */
function noteMissing({ setting, list, name }: Listed, context: NoteContext): void {
  const { groups, notes, resolve } = context
  const listed = list.get(name) ?? []
  const unknown = listed.filter((other) => resolve(other).length === 0)
  const note = (reason: string) => notes.left.push(`${setting} of ${name}: ${reason}`)
  if (unknown.length > 0) note(`no model ${unknown.join(', ')}`)
  const own = groups.get(name)
  if (own === undefined && name !== '*') {
    note('there is no such model')
    return
  }
  const backed = own === undefined ? [...groups.values()] : [own]
  const odd = listed.filter((other) => {
    const found = resolve(other)
    return found.length > 0 && backed.every((models) => fit(models, found).length === 0)
  })
  if (odd.length > 0) note(`${odd.join(', ')} cannot take over: itself, or another API`)
}

/** Returns the other names of models: the alias and the name that it stands for. */
export function readAliases({ router_settings: router }: Pick<LitellmFile, 'router_settings'>) {
  return Object.entries(router?.model_group_alias ?? {}).map(([alias, target]) => {
    const isHidden = typeof target !== 'string' && target.hidden === true
    return { alias, target: typeof target === 'string' ? target : target.model, isHidden }
  })
}
