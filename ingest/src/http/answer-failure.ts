import type { Logger } from '@tollgate/platform/observability/logger'
import { UnavailableError } from '../domain/unavailable-error.ts'
import { internalError, unavailable } from './answers.ts'
import type { FrontOptions } from './http-front.ts'

/** Returns the response to a request that ended in an error: a request to retry, or 500 for a defect, which is logged. */
export function createAnswerFailure(logger: Logger): FrontOptions['answerFailure'] {
  return (error, requestId) => {
    if (error instanceof UnavailableError) return unavailable(error.message, error.code)
    logger.error({ err: error, requestId }, 'a request failed')
    return internalError
  }
}
