import type { SharedState } from '../core/shared-state.ts'
import {
  type AuditedStore,
  auditedMethods,
  type Store,
  type StoreMethod,
  storeMethods,
} from '../store/index.ts'
import { changeChannel } from './change-follower.ts'

/** Returns the store. It announces each change of a setting to the other processes. */
export function announceChanges(store: Store, shared: SharedState): Store {
  const announce = (writes: AuditedStore): AuditedStore => {
    const announced = auditedMethods.map((method) => {
      const write = writes[method].bind(writes) as Call
      const writeAndAnnounce: Call = async (...args) => {
        const result = await write(...args)
        void shared.publish(changeChannel, '')
        return result
      }
      return [method, writeAndAnnounce]
    })
    // Each has the arguments and the result of its method.
    return Object.fromEntries(announced) as AuditedStore
  }
  const methods = storeMethods.map((method) => [method, store[method].bind(store)])
  return {
    // The same holds here.
    ...(Object.fromEntries(methods) as Pick<Store, StoreMethod>),
    ...announce(store),
    journal: store.journal,
    claimId: store.claimId,
    audited: (entry) => announce(store.audited(entry)),
    abandon: () => store.abandon(),
    close: () => store.close(),
  }
}

type Call = (...args: unknown[]) => Promise<unknown>
