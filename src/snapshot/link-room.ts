import type { ModelConfig, ProviderConfig } from '../config/index.ts'
import { type LinkRoom, nameRoom, type RoomLimit } from '../core/room.ts'

/** The limits of calls at once that hold for a model; undefined without one. */
export function toLinkRoom(owner: ProviderConfig, entry: ModelConfig): LinkRoom | undefined {
  const ofProvider = toLimits(nameRoom(owner.name), owner)
  const ofModel = toLimits(nameRoom(owner.name, entry.id), entry)
  const [first, ...others] = [...ofProvider, ...ofModel]
  return first && [first, ...others]
}

type RoomSettings = Pick<ProviderConfig, 'max_parallel' | 'queue_max' | 'queue_ms'>

function toLimits(name: string, settings: RoomSettings): readonly RoomLimit[] {
  const { max_parallel: maxParallel, queue_max: queueMax, queue_ms: queueTime } = settings
  return maxParallel === undefined ? [] : [{ name, maxParallel, queueMax, queueTime }]
}
