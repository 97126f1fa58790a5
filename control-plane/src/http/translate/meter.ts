import type { Meter } from '@tollgate/domain/meters/repository'
import type { MeterBody } from '@tollgate/schemas/http/meters'
import { present } from '../../domain/present.ts'

export function meterToHttp(meter: Meter): MeterBody {
  return {
    reference: meter.reference,
    name: meter.name,
    displayName: meter.displayName,
    aggregation: meter.aggregation,
    unit: meter.unit,
    status: meter.status,
    ...present({ description: meter.description }),
  }
}
