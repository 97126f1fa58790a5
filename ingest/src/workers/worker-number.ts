/** First parameter of a worker process. The number follows. */
const parameter = '--worker'

/** Returns the parameters with which a parent launches the worker. */
export function workerParameters(number: number): string[] {
  return [parameter, String(number)]
}

/**
 * Returns the number of this worker, from 1. Undefined if this process is no worker: only a child of a parent that reserved the port
 * may share it, so a person who gives the parameters by mistake does not start a worker.
 */
export function readWorkerNumber(
  parameters: readonly string[],
  isChild: boolean,
): number | undefined {
  const [first, number] = parameters
  return isChild && first === parameter ? Number(number) : undefined
}
