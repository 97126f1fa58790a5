import { operation, type DescribedOperation } from './described-operation.ts'

/** Operations of corrections of usage. */
export const describedCorrectionOperations: Readonly<Record<string, DescribedOperation>> = {
  'post /v1/sdk/usage-corrections': operation('correctUsage', 'Correct usage', 409),
  'post /v1/sdk/usage-corrections/batch': operation(
    'correctUsageInBatch',
    'Correct usage in a batch',
    409,
  ),
  'get /v1/sdk/usage-corrections': operation('listUsageCorrections', 'List corrections of usage'),
  'get /v1/sdk/usage-corrections/{correctionRef}': operation(
    'getUsageCorrection',
    'Get a correction of usage',
    404,
  ),
}
