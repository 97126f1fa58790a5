import type { HotState, NamedEntry } from '../hot-state.ts'

/** Publishes entries of one subject one after the other, and entries of different subjects concurrently. */
export async function putOneByOne(
  hotState: Pick<HotState, 'putEntry'>,
  space: string,
  partition: number,
  entries: readonly NamedEntry[],
): Promise<void> {
  const subjects = new Map<string, NamedEntry[]>()
  for (const entry of entries) {
    const others = subjects.get(entry.subject)
    if (others === undefined) subjects.set(entry.subject, [entry])
    else others.push(entry)
  }
  const settled = await Promise.allSettled(
    [...subjects.values()].map(async (ofSubject) => {
      for (const { subject, scope, ...entry } of ofSubject) {
        await hotState.putEntry({ space, partition, subject, scope }, entry)
      }
    }),
  )
  for (const each of settled) if (each.status === 'rejected') throw each.reason
}
