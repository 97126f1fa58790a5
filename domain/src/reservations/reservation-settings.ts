import { integerSetting } from '@tollgate/platform/config/settings'
import { reservationSecondsMax } from '@tollgate/schemas/limits'

/** Limits of reservations. All services that reserve should have the same values. */
export const reservationSettings = {
  reservationSecondsMax: integerSetting(
    'TOLLGATE_RESERVATION_SECONDS_MAX',
    'Seconds a reservation may be held',
    3_600,
    { min: 1, max: reservationSecondsMax },
  ),
  reservationsMax: integerSetting(
    'TOLLGATE_RESERVATIONS_MAX',
    'Reservations of one customer and product at a time; one more is answered 503',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
}
