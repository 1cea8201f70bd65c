import { soleWorker, type Topic, type Workers } from '../../src/core/workers.ts'

type Handler = (question: unknown) => unknown

/** The ports of several workers in this process. What they send is copied, as between processes. */
export function createCrew(count: number): readonly Workers[] {
  const handlers = Array.from({ length: count }, () => new Map<string, Handler>())
  const { inTurn } = soleWorker()
  const ask = async (answering: readonly Map<string, Handler>[], name: string, value: unknown) =>
    Promise.all(
      answering.map(async (each) => {
        const answer = await each.get(name)?.(structuredClone(value))
        return structuredClone(answer)
      }),
    )
  return handlers.map((own, at) => ({
    count,
    number: at + 1,
    answer(topic, handle) {
      own.set(topic.name, handle as Handler)
    },
    async ask<Question, Answer>({ name }: Topic<Question, Answer>, question: Question) {
      return (await ask(handlers, name, question)) as readonly Answer[]
    },
    async publish({ name }, state) {
      const others = handlers.filter((each) => each !== own)
      await ask(others, name, state)
    },
    inTurn,
  }))
}
