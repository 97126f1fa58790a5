import { integerSetting } from '@tollgate/platform/config/settings'
import { reservationSecondsMax } from '@tollgate/schemas/limits'

/** Limits of reservations. All services that reserve should have the same values. */
export const reservationSettings = {
  reservationSecondsMax: integerSetting(
    'TOLLGATE_RESERVATION_SECONDS_MAX',
    'Maximum lifetime of a reservation, in seconds',
    3_600,
    { min: 1, max: reservationSecondsMax },
  ),
  reservationsMax: integerSetting(
    'TOLLGATE_RESERVATIONS_MAX',
    'Maximum reservations of one customer and product at a time; further requests get 503',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
}
