import type { Topic, Workers } from '../../../src/core/workers.ts'
import type { Channel } from './channel.ts'
import type { FromPrimary, FromWorker, WorkerStart } from './messages.ts'

type Handler = (question: unknown) => unknown

/** Creates the port through which a gateway reaches the other workers, by way of the primary process. */
export function createWorkersPort(
  channel: Channel<FromWorker, FromPrimary>,
  start: Pick<WorkerStart, 'count' | 'number'>,
): Workers {
  const handlers = new Map<string, Handler>()
  const answer = async (topic: string, question: unknown) => {
    const handle = handlers.get(topic)
    if (!handle) throw new Error(`no handler for the topic ${topic}`)
    return handle(question)
  }
  channel.onCall('ask', ({ topic, question }) => answer(topic, question))
  return {
    count: start.count,
    number: start.number,
    answer(topic, handle) {
      // A topic binds the types of its question and its answer to its name.
      handlers.set(topic.name, handle as Handler)
    },
    async ask<Question, Answer>({ name: topic }: Topic<Question, Answer>, question: Question) {
      const answers = await channel.call('ask', { topic, question })
      // Every worker answers a topic with this type.
      return answers as readonly Answer[]
    },
    publish: ({ name: topic }, state) => channel.call('publish', { topic, question: state }),
    async inTurn(change) {
      await channel.call('turn', undefined)
      try {
        return await change()
      } finally {
        channel.notify('turnEnded', undefined)
      }
    },
  }
}
