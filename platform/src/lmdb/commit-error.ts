/**
 * Awaits a commit. When a commit fails, lmdb's error carries its reason as a second promise, whose rejection would end the process
 * if it is not handled. All writes must use this function.
 */
export async function committed<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write
  } catch (error) {
    const { commitError } = error as { commitError?: Promise<never> }
    if (commitError === undefined) throw error
    const reason: unknown = await commitError.catch((each: unknown) => each)
    const text = reason instanceof Error ? reason.message : String(reason)
    throw new Error(`The disk did not take a transaction: ${text}.`, { cause: error })
  }
}
