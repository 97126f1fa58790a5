import type { HotState, RestoreFinish, RestoreStep } from '../hot-state/hot-state.ts'

/** A restore that counts its own steps. */
export async function beginRestore(
  hot: HotState,
  { space, partition }: { readonly space: string; readonly partition: number },
) {
  const token = await hot.beginRestore(space, partition)
  const of = { space, partition, token }
  let step = 0
  return {
    token,
    add: async (spans: RestoreStep['spans']) => hot.restore({ ...of, step: step++, spans }),
    finish: async (nextOffset: RestoreFinish['nextOffset']) =>
      hot.finishRestore({ ...of, step, nextOffset }),
  }
}
