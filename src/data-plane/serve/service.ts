import type { Api } from '../../core/capability.ts'
import type { Reply } from '../../core/reply.ts'
import type { AdmittedRequest } from '../request/admitted.ts'
import { readTimeout } from '../request/asked-timeout.ts'
import type { RequestContext } from '../request/context.ts'
import { answerFromCache } from './answer-from-cache.ts'
import { answerRepeat, digestArrived } from './answer-repeat.ts'
import type { ArrivedRequest, PreparedRequest } from './prepared-request.ts'

/** One API of the data plane. */
export interface Service {
  readonly api: Api
  /** Reads a request and finds its route, or throws the error that the client gets. Counts nothing. */
  prepare(request: Request, context: RequestContext): Promise<PreparedRequest>
  /** Prepares a request and serves it. Rejects with the error that the client gets. */
  readonly serve: ServeRequest
}

export type ServeRequest = (request: Request, context: RequestContext) => Promise<Reply>

/** What differs between the APIs. */
export interface ServiceSteps<Prepared extends PreparedRequest> {
  readonly api: Api
  /** Reads a request and finds its route; LM-1001, LM-2010, LM-2001, LM-4005, LM-2002. */
  read(arrived: ArrivedRequest, context: RequestContext): Promise<Prepared>
  /** Sends an admitted request upstream and answers it; LM-2005, LM-2006, LM-2007, LM-3xxx, LM-6001. */
  run(prepared: Prepared, admission: Admitted): Promise<Reply>
}

export interface Admitted {
  readonly context: RequestContext
  readonly admitted: AdmittedRequest
}

/** Creates the service of one API. The order of its steps is the order of the errors that a client can get. */
export function createService<Prepared extends PreparedRequest>({
  api,
  read,
  run,
}: ServiceSteps<Prepared>): Service {
  return Object.freeze({
    api,
    prepare: async (request, context) => read(await receive(request, context), context),
    async serve(request, context) {
      const arrived = await receive(request, context) // LM-4004, LM-1002
      const { cache, snapshot } = context
      const digest = cache.repeats.isEmpty ? undefined : await digestArrived(arrived, context)
      const repeated =
        digest === undefined ? undefined : await answerRepeat(arrived, { cache, snapshot, digest })
      if (repeated) return repeated // LM-4005, LM-4002
      const prepared = await read(arrived, context) // LM-1001, LM-2010, LM-2001, LM-4005, LM-2002
      const { authenticated, route, slice, isHeavy } = prepared
      if (isHeavy) await slice.pause()
      const checking = prepared.check()
      if (checking) await checking // LM-2003, LM-2004, LM-2008, LM-1001
      if (isHeavy) await slice.pause()
      const cached = route.cache && (await answerFromCache(prepared, { context, digest }))
      if (cached) return cached // LM-4002
      if (isHeavy) await authenticated.prepareAdmission(prepared, slice)
      const admitting = authenticated.admit(prepared) // LM-4007, LM-4002, LM-4003, LM-4006, LM-4001, LM-5003
      const admitted = admitting instanceof Promise ? await admitting : admitting
      if (isHeavy) await slice.pause()
      return run(prepared, { context, admitted }) // LM-2005, LM-2006, LM-2007, LM-3xxx, LM-6001
    },
  } satisfies Service)
}

async function receive(request: Request, context: RequestContext): Promise<ArrivedRequest> {
  const slice = context.startTimeSlice()
  const authenticated = context.authenticate(request) // LM-4004
  const timeout = readTimeout(request.headers) // LM-1001
  if (timeout !== undefined) context.limitTime(timeout)
  return { authenticated, request, bytes: await authenticated.readBody(request), slice } // LM-1002
}
