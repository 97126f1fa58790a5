import type { HotState, Mark, RestoreFinish, SlotLimits, Span } from '../hot-state/hot-state.ts'

/** Begins a restore that counts its own steps. */
export async function beginRestore(
  hot: HotState,
  { space, partition }: { readonly space: string; readonly partition: number },
) {
  const token = await hot.beginRestore(space, partition)
  const of = { space, partition, token }
  let step = 0
  return {
    token,
    add: async (spans: readonly Span[], slotLimits?: SlotLimits) =>
      hot.restore({ ...of, step: step++, spans, ...(slotLimits && { slotLimits }) }),
    mark: async (marks: readonly Mark[], markedOffset: number) =>
      hot.restore({ ...of, step: step++, marks, markedOffset }),
    finish: async (nextOffset: RestoreFinish['nextOffset']) =>
      hot.finishRestore({ ...of, step, nextOffset }),
  }
}
