import type { Logger } from '@tollgate/platform/observability/logger'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { internalError, unavailable } from './answers.ts'
import type { Answer } from './http-front.ts'

/** What a client is told whose request ended in an error: to come again, or that we have a defect, which is logged. */
export function createAnswerFailure(logger: Logger): (error: unknown) => Answer {
  return (error) => {
    if (error instanceof UnavailableError) return unavailable(error.message)
    logger.error({ err: error }, 'a request failed')
    return internalError
  }
}
