import { describe } from 'vitest';
import { dieAtEveryOtherCall } from './die-at-every-other-call.js';

describe('the first call, the third, the fifth …', () => dieAtEveryOtherCall(1));
