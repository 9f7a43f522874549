internal import ToftStorage
