import { operation, type DescribedOperation } from './described-operation.ts'

/** The operations on the tax details of customers and on the tax service, by method and path. */
export const describedTaxOperations: Readonly<Record<string, DescribedOperation>> = {
  'get /v1/ui/customers/{reference}/tax-details': operation(
    'getTaxDetails',
    'Get the tax details of a customer',
    404,
  ),
  'put /v1/ui/customers/{reference}/tax-details': operation(
    'setTaxDetails',
    'Set the tax details of a customer',
    404,
  ),
  'put /v1/ui/customers/{reference}/tax-id-check': operation(
    'decideTaxId',
    'Decide whether a tax id is valid',
    404,
    409,
  ),
  'delete /v1/ui/customers/{reference}/tax-id-check': operation(
    'forgetTaxIdCheck',
    'Look a tax id up again',
    404,
    409,
  ),
  'get /v1/ui/tax-service': operation('getTaxService', 'Get the tax service'),
  'put /v1/ui/tax-service': operation('setTaxService', 'Set the tax service'),
  'delete /v1/ui/tax-service': operation('deleteTaxService', 'Delete the tax service'),
}
