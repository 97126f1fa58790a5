import { setTimeout as sleep } from 'node:timers/promises'

const givenMs = 20_000

/** Repeats a call until the server is available again, and returns its answer. */
export async function answered<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const deadline = performance.now() + givenMs
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}
