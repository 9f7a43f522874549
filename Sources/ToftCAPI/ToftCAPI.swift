internal import ToftEngine
