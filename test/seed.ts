// Made-up inputs are the same in every `make test`, so that it passes or fails for what changed. `make soak` goes further
// afield: it draws a seed, and a failure prints it; CAPT_SEED=… repeats it.
import fc from 'fast-check'

const wish = process.env['CAPT_SEED'] ?? '20261116'

if (wish !== 'drawn') fc.configureGlobal({ seed: Number(wish) })
