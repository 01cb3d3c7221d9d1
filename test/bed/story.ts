// What a story on the shared bed starts with.
import { inject } from 'vitest'
import { type Bed, onBed } from './bed.ts'

export function theBed(): Bed {
  return onBed(inject('bed'))
}
