#pragma once
// The version of Refrain that a program is compiled against. The build takes the project's version from
// these three lines, so they are its only home.

#define REFRAIN_VERSION_MAJOR 0
#define REFRAIN_VERSION_MINOR 1
#define REFRAIN_VERSION_PATCH 0
